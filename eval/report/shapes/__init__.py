"""The shapes inside `review.json`, as pydantic models; `relgate.eval.report.schema` joins them."""
