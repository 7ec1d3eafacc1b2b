// Starts the page.
import { render } from "preact";
import { type Address, readAddress } from "./address.ts";
import { createApi } from "./api.ts";
import { App } from "./app.tsx";
import "./app.css";
import "./inspect/styles.css";
import { createController } from "./controller.ts";
import { followEvents } from "./follow-events.ts";
import { createInspectApi } from "./inspect/inspect-api.ts";
import { createInspectController } from "./inspect/inspect-controller.ts";
import { initialInspect } from "./inspect/inspect-state.ts";
import { initialState, isListWhole, isSameSession } from "./page-state.ts";
import { createStore } from "./store.ts";

const POLL_MS = 2000;
const POLL_SOON_MS = 1000;

const address = readAddress(location.hash);
const store = createStore(initialState(address.session));
const api = createApi();
const controller = createController({ api, store });
const inspectApi = createInspectApi();
const inspectStore = createStore(initialInspect(address.session));
const inspect = createInspectController({ api: inspectApi, store: inspectStore, isStored });

/** Goes where the address says, on this page or when it was opened. */
function follow({ session, place }: Address): void {
  store.set({ isInspecting: place !== null });
  void controller.open(session);
  if (place !== null) void inspect.show(session, place);
}

/** What there is to list was told, or cannot be. */
const listed = new Promise<void>((resolve) => {
  const stop = store.subscribe(() => {
    if (store.get().connection === "connecting") return;
    stop();
    resolve();
  });
});

/** A session in which nobody said anything yet is not asked for. */
async function isStored(key: string): Promise<boolean> {
  await Promise.race([listed, begun]);
  const { health, sessions } = store.get();
  const isListed = sessions.some((row) => isSameSession(row.key, key));
  return health === null || !isListWhole(store.get()) || isListed;
}

window.addEventListener("popstate", () => follow(readAddress(location.hash)));
document.addEventListener("visibilitychange", () => {
  void poll();
  listen();
});

let stopListening: (() => void) | undefined;
/** Pages that nobody looks at may be put to sleep: they leave the connection to others. */
function listen(): void {
  stopListening?.();
  const isSeen = document.visibilityState !== "hidden";
  stopListening = isSeen
    ? followEvents({ store, read: controller.poll, readWaiting: controller.readWaiting })
    : undefined;
}

let timer: ReturnType<typeof setTimeout> | undefined;
/** A page nobody looks at asks nothing. */
async function poll(): Promise<void> {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") return;
  await controller.poll();
  const { connection, session } = store.get();
  clearTimeout(timer);
  timer = setTimeout(
    () => void poll(),
    connection !== "ok" || session?.busy === true ? POLL_SOON_MS : POLL_MS,
  );
}

const root = document.getElementById("app");
if (root !== null)
  render(
    <App
      {...{ store, controller, api }}
      inspect={{ store: inspectStore, controller: inspect, api: inspectApi }}
    />,
    root,
  );
const begun = poll();
follow(address);
listen();
