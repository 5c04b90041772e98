"""The paper's numbers and claims, and what came out.

`published` holds its numbers, claims and the revisions of their rules, `open_choices` what it
leaves unsaid, `recordings` the recorded studies and `recording_checks` their comparison with runs
of this machine. `protocol_space`, `protocol_search` and `protocol_fit` ask which protocol the
printed numbers speak for. `evidence` is the yardstick, `verdicts` the words, `rules_on_runs` and
`rules_on_data` judge one claim each, `stability` judges them in other worlds, and `ledger` lists
all verdicts.
"""
