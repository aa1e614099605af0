"""Tools and calls in the shapes of model vendors, without their packages."""
