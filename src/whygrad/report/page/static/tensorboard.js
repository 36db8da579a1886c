// TensorBoard loads this into a frame of its own: the frame goes on to the page.

export function render() {
  location.replace(new URL("index.html", import.meta.url));
}
