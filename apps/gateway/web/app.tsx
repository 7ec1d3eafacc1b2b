// The whole page, its keyboard shortcuts and its address.
import { useCallback, useEffect, useState } from "preact/hooks";
import { shortName } from "../src/sessions/keys.ts";
import { hashOfSession } from "./address.ts";
import type { ContextPart } from "./api.ts";
import { Approvals } from "./approvals.tsx";
import { Banners } from "./banners.tsx";
import { Chat } from "./chat.tsx";
import { ContextPanel } from "./context-panel.tsx";
import type { Controller } from "./controller.ts";
import { isRunning } from "./live-turn.ts";
import type { PageState } from "./page-state.ts";
import { SessionList } from "./session-list.tsx";
import type { Store } from "./store.ts";
import { type Pane, TopBar } from "./top-bar.tsx";
import { useStore } from "./use-store.ts";

export function App({ store, controller }: { store: Store<PageState>; controller: Controller }) {
  const state = useStore(store);
  const [pane, setPane] = useState<Pane>("chat");
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { key, turns, session } = state;
  const running = isRunning(turns[key]);
  const isStoppable = running || session?.busy === true;

  useAddressOf(key);
  useEscape(() => {
    if (isMenuOpen) setMenuOpen(false);
    else if (isStoppable) void controller.stop();
  }, [isMenuOpen, isStoppable, controller]);
  const readItem = useCallback(
    (part: ContextPart, index: number) => controller.readItem(key, part, index),
    [controller, key],
  );
  const show = (open: Promise<void>) => {
    setMenuOpen(false);
    setPane("chat");
    void open;
  };
  return (
    <div class="app" data-pane={pane}>
      <button type="button" class="skip" onClick={toMessage}>
        Skip to the message
      </button>
      <TopBar
        state={state}
        pane={pane}
        isMenuOpen={isMenuOpen}
        onPane={setPane}
        onMenu={() => setMenuOpen(!isMenuOpen)}
      />
      <Banners state={state} onDismiss={() => store.set({ notice: null })} />
      <Approvals state={state} onAnswer={(id, answer) => void controller.answer(id, answer)} />
      <main class="panels">
        <SessionList
          state={state}
          isOpen={isMenuOpen}
          onOpen={(opened) => show(controller.open(opened))}
          onNew={() => show(controller.openNew())}
        />
        <Chat state={state} controller={controller} onDraft={(draft) => store.set({ draft })} />
        <ContextPanel view={state.context} isOlder={running} readItem={readItem} />
      </main>
    </div>
  );
}

function toMessage(): void {
  document.getElementById("message")?.focus();
}

/** The session stands in the page's title and address. */
function useAddressOf(key: string): void {
  useEffect(() => {
    document.title = `${shortName(key)} · Clew`;
    const hash = hashOfSession(key);
    if (location.hash === "") history.replaceState(null, "", hash);
    else if (location.hash !== hash) history.pushState(null, "", hash);
  }, [key]);
}

/** `onEscape` unless something nearer to the focus took the key. */
function useEscape(onEscape: () => void, dependencies: readonly unknown[]): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) onEscape();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, dependencies);
}
