"""`make bench`: Orchard's engine beside its peers, on the same data, in the same run."""
