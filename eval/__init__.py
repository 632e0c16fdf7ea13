"""Lists, runs, metrics, agreement, gaps, rules, reports, and the command line."""
