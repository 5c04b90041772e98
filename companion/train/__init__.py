"""Studies as they run: settings, the runs of a grid, their store, and the workers that train."""
