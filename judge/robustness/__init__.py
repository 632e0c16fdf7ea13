"""How a judge holds out: order, repetition, batch size, texts that attack it. Measured.

`attacks` makes the attacked texts, `sample` draws what is asked, `checks` asks the judge, `types`
are the results, `render` writes them down. All pure but for the asking.
"""
