"""Tables and plots, the published number beside the measured one."""
