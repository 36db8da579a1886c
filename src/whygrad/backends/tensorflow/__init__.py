"""TensorFlow and Keras: listen, log, freeze. What is wrong with a program is not decided here."""
