// Starts the page.
import { render } from "preact";
import { sessionInHash } from "./address.ts";
import { createApi } from "./api.ts";
import { App } from "./app.tsx";
import "./app.css";
import { createController } from "./controller.ts";
import { initialState } from "./page-state.ts";
import { createStore } from "./store.ts";

const POLL_MS = 2000;
const POLL_SOON_MS = 1000;

const store = createStore(initialState(sessionInHash(location.hash)));
const controller = createController({ api: createApi(), store });

window.addEventListener("popstate", () => void controller.open(sessionInHash(location.hash)));
document.addEventListener("visibilitychange", () => void follow());

let timer: ReturnType<typeof setTimeout> | undefined;
/** A page nobody looks at asks nothing. */
async function follow(): Promise<void> {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") return;
  await controller.poll();
  const { connection, session } = store.get();
  clearTimeout(timer);
  timer = setTimeout(
    () => void follow(),
    connection !== "ok" || session?.busy === true ? POLL_SOON_MS : POLL_MS,
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App store={store} controller={controller} />, root);
void follow();
