"""Recorded studies and what is computed from them.

`recordings` holds the grids, `recording_checks` their comparison with runs of this machine.
`protocol_space`, `protocol_search` and `protocol_fit` ask which protocol the printed numbers speak
for; `fair_fight` tunes every loss alike; `twins` splits repeated rows by group.
"""
