"""A relevance gate as a test: run with pytest in the folder of your saved results."""


def test_the_change_may_ship(relgate_review):
    done = relgate_review(
        before="before.jsonl",
        after="after.jsonl",
        judgments="judgments.csv",
        judgments_source="human",
    )
    done.check(fail_on="needs-work")
