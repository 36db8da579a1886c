"""The toolkit for training loops: ordinary TensorFlow code on the one capture, with no privileged access.

What watches a program belongs to `backends`, what judges it to `rules`.
"""
