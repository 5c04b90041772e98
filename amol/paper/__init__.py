"""What the paper says and what came out.

`published` holds its numbers and claims, `open_choices` what it leaves unsaid, `recordings` the
long studies, `ledger` the verdicts; `rules_on_runs` and `rules_on_data` judge one claim each.
"""
