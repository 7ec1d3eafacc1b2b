// The whole page, its keyboard shortcuts and its address.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { shortName } from "../src/sessions/keys.ts";
import { planTrail, writeAddress } from "./address.ts";
import type { Api, ContextPart } from "./api.ts";
import { Approvals } from "./approvals.tsx";
import { Banners } from "./banners.tsx";
import { Chat } from "./chat.tsx";
import { ContextPanel } from "./context-panel.tsx";
import type { Controller } from "./controller.ts";
import type { InspectApi } from "./inspect/inspect-api.ts";
import type { InspectController } from "./inspect/inspect-controller.ts";
import type { InspectState } from "./inspect/inspect-state.ts";
import { Inspector } from "./inspect/inspector.tsx";
import { newestAs } from "./inspect/place.ts";
import type { JoinedTurn } from "./joined-turn.ts";
import { isRunning } from "./live-turn.ts";
import { joinedShown, type PageState, turnShown } from "./page-state.ts";
import { SessionList } from "./session-list.tsx";
import type { Store } from "./store.ts";
import { type Pane, TopBar } from "./top-bar.tsx";
import { useStore } from "./use-store.ts";

export interface AppProps {
  store: Store<PageState>;
  controller: Controller;
  /** What chat and inspector both ask. */
  api: Pick<Api, "send">;
  inspect: { store: Store<InspectState>; controller: InspectController; api: InspectApi };
}

export function App({ store, controller, api, inspect }: AppProps) {
  const state = useStore(store);
  const [pane, setPane] = useState<"chat" | "context">("chat");
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { key, session, isInspecting } = state;
  const running = isRunning(turnShown(state));
  const joined = joinedShown(state);
  const live = joined !== null && isRunning(joined.turn) ? joined : null;
  const isStoppable = running || session?.busy === true;

  useAddressOf({ store, inspect: inspect.store });
  useInspected(state, live, inspect.controller);
  useReadAgain(isInspecting, controller);
  useKeys(
    {
      Escape: () => {
        if (isMenuOpen) setMenuOpen(false);
        else if (isStoppable && !isInspecting) void controller.stop();
        // Out of the box for messages, so that keys are heard again.
        else (document.activeElement as HTMLElement | null)?.blur();
      },
      ...(!isInspecting && { i: () => store.set({ isInspecting: true }) }),
    },
    [isMenuOpen, isStoppable, isInspecting, controller],
  );
  const readItem = useCallback(
    (part: ContextPart, index: number) => controller.readItem(key, part, index),
    [controller, key],
  );
  const show = (open: Promise<void>) => {
    setMenuOpen(false);
    setPane("chat");
    void open;
  };
  const showPane = (next: Pane) => {
    store.set({ isInspecting: next === "calls" });
    if (next !== "calls") setPane(next);
  };
  const shown = isInspecting ? "calls" : pane;
  return (
    <div class="app" data-pane={shown}>
      <button type="button" class="skip" onClick={isInspecting ? toColumns : toMessage}>
        {isInspecting ? "Skip to the call" : "Skip to the message"}
      </button>
      <TopBar
        state={state}
        pane={shown}
        isMenuOpen={isMenuOpen}
        onPane={showPane}
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
          onList={(asked) => void controller.list(asked)}
        />
        {isInspecting ? (
          <Inspector
            {...inspect}
            live={live}
            chat={api}
            sessions={state.sessions}
            engines={state.health?.engine.known ?? []}
            onOpenSession={(opened) => void controller.open(opened)}
            onChat={() => store.set({ isInspecting: false })}
          />
        ) : (
          <>
            <Chat
              state={state}
              controller={controller}
              onDraft={(draft) => store.set({ draft })}
              onInspect={(opened) => {
                store.set({ isInspecting: true });
                void controller.open(opened);
              }}
            />
            <ContextPanel
              view={state.context}
              isReading={state.isLoading && session !== null}
              isOlder={running}
              live={live}
              readItem={readItem}
            />
          </>
        )}
      </main>
    </div>
  );
}

function toMessage(): void {
  document.getElementById("message")?.focus();
}

function toColumns(): void {
  document.getElementById("sent")?.focus();
}

/** The inspector follows the session shown, and reads on when there is more of it. */
function useInspected(
  { key, session, isInspecting }: PageState,
  live: JoinedTurn | null,
  controller: InspectController,
) {
  const name = shortName(key);
  const { call, isAnswered, ended } = live ?? {};
  const running = `${call?.turnId} ${call?.number} ${isAnswered} ${ended}`;
  const version = `${session?.updatedAt} ${session?.busy} ${running}`;
  useEffect(() => {
    if (isInspecting) void controller.follow(name);
  }, [isInspecting, name, version, controller]);
}

/** The chat was not kept up to date beside the calls. */
function useReadAgain(isInspecting: boolean, controller: Controller): void {
  const wasInspecting = useRef(isInspecting);
  useEffect(() => {
    if (wasInspecting.current && !isInspecting) void controller.readShown();
    wasInspecting.current = isInspecting;
  }, [isInspecting, controller]);
}

/** Session and call stand in the page's title and address. */
function useAddressOf({
  store,
  inspect,
}: {
  store: Store<PageState>;
  inspect: Store<InspectState>;
}): void {
  const { key, isInspecting } = useStore(store);
  const { place, key: inspected } = useStore(inspect);
  // Of another session for a moment, while one is opened.
  const isCurrent = shortName(inspected) === shortName(key);
  useEffect(() => {
    const [page, now] = [store.get(), inspect.get()];
    // Whoever went elsewhere before this came to be told has another address already.
    if (page.key !== key || page.isInspecting !== isInspecting || now.place !== place) return;
    const call = place.call === null ? "" : ` · call ${place.call}`;
    document.title = `${shortName(key)}${isInspecting ? call || " · calls" : ""} · Clew`;
    const shown = isInspecting ? (isCurrent ? place : newestAs(place)) : null;
    const hash = writeAddress({ session: key, place: shown });
    const trail = planTrail(location.hash, hash);
    if (trail === "push") history.pushState(null, "", hash);
    if (trail === "replace") history.replaceState(null, "", hash);
  }, [store, inspect, key, isInspecting, place, isCurrent]);
}

/** Keys that nothing nearer to the focus took, and that are not written into something. */
function useKeys(keys: Record<string, () => void>, dependencies: readonly unknown[]): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const element = event.target as HTMLElement | null;
      const isWriting = element?.closest("input, textarea, select") != null;
      if (isWriting && event.key !== "Escape") return;
      keys[event.key]?.();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, dependencies);
}
