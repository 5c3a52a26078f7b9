"""Run a simulation and draw it."""

from orchard.jobs import job

with job(snakemake):
    from orchard.eagle_simulations import curves
    from orchard.report.simulation_figures import simulation_figure

    panels, repetitions = snakemake.params.simulation["panels"], snakemake.params.simulation["repetitions"]
    drawn = [(panel["task"], curves(panel, repetitions)) for panel in panels]
    simulation_figure(snakemake.params.artefact, drawn, repetitions, snakemake.output)
