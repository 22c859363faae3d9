"""Your own graph: features, edges and labels from tables, files and objects of other libraries."""
