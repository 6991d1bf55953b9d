"""Networks trained on true volumes: 3D U-Net and Swin-UNETR (paper, appendices F.3 and F.5)."""
