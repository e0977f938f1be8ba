"""Active learning on labelled data whose labels are hidden until they are asked for (paper 003)."""
