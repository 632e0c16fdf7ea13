"""The reviewer: evidence in, one outcome a rule, and the verdict."""
