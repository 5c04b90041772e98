"""What the paper says: its numbers and claims (`published`), and what it leaves open
(`open_choices`).
"""
