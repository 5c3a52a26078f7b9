"""What needs PyTorch: sentence encoders and the networks of the papers. It is imported inside functions only."""
