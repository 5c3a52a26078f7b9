"""A run as a Provenance Run Crate: one zip with the workflow, its results, and which job made which file from which.

The crate follows RO-Crate 1.1, Workflow RO-Crate 1.0 and the Workflow Run profiles 0.5 (process, workflow, provenance;
https://w3id.org/ro/wfrun/provenance). It is made from the records of jobs (`orchard.job_records`): those of a scale's
artefacts, of what these were made from, and so on. A record that does not fit the files any more is left out. Data is
named by its hash and not included, for its size and its licences. The same files and records give the same bytes.
"""
