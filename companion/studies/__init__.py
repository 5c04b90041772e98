"""Recorded studies and what is computed from them.

`registry` names all: `grids` and three studies that go task by task (`task_study`), `fair_fight`,
where every loss is tuned alike, `hundred_sets`, the same on the collection, and `grouped_splits`;
`protocol_search`, with `protocol_space` and `protocol_fit`, asks which protocol the printed numbers
speak for. `recordings` keeps their rows, `recording_checks` compares them with rows made here.
`paired_intervals` and `rank_tests` compare methods, `decisions` measures what one network can still
decide, `tuned_decisions` tunes two more on the validation part.
"""
