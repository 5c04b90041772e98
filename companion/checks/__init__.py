"""The package measured by itself.

`loss_grid` holds every loss against `reference_losses`, which compute with 50 digits; `bench`
times the engine beside `baseline_loops`.
"""
