"""A person's own graph: from tables, files and objects of other libraries to features, edges and labels."""
