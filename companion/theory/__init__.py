"""What each loss asks for: `properties` is the table, `exact` proves its cells, `beliefs` has what
they are probed with.
"""
