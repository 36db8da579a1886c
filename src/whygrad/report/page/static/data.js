// Where the numbers come from: a server below this script's own address, or the file that the page is.

const element = document.getElementById("data");
const embedded = element === null ? null : JSON.parse(element.textContent);
export const isFile = embedded !== null;

async function asked(response) {
  const data = await response.json();
  if (!response.ok) throw new Error([data.error, data.help].filter(Boolean).join(" — "));
  return data;
}

function address(path, parameters) {
  const url = new URL(`api/${path}`, import.meta.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

export async function get(path, parameters = {}) {
  return asked(await fetch(address(path, parameters)));
}

/** Something of one run: `of(id)`, `of(id, "heat", { track })`. */
export async function of(run, what = "", parameters = {}) {
  if (!isFile) return get(["runs", encodeURIComponent(run), what].filter(Boolean).join("/"), parameters);
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join("&");
  const wanted = (what || "run") + (words && `?${words}`);
  const key = wanted in embedded ? wanted : Object.keys(embedded).find((each) => words && each.startsWith(`${wanted}&`)); // any track
  if (key === undefined) throw new Error("this is not in the file, to keep it small; `whygrad ui` shows all of it");
  return embedded[key];
}

export const has = (what) => !isFile || what in embedded;

/** Change something; the header is what tells our page from a form of another site. */
export async function change(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Whygrad": "1" };
  return asked(await fetch(address(path, {}), { method: "POST", headers, body: JSON.stringify(body) }));
}

/** The address of a view: `link("run", id, "variable", name)`. */
export const link = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;
