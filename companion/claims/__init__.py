"""What came out: `evidence` is the yardstick, `verdicts` the words, `rules_on_runs` and
`rules_on_data` judge one claim each, `stability` judges them in other worlds, and `ledger` lists
all verdicts.
"""
