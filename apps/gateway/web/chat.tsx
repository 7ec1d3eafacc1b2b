// The chat, with what runs now, what went wrong and the box for messages.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatCount } from "../src/conversation/format.ts";
import { shortName } from "../src/sessions/keys.ts";
import { ChatItemView } from "./chat-item.tsx";
import { Composer } from "./composer.tsx";
import type { Controller } from "./controller.ts";
import { chatItems, isRunning, type LiveTurn } from "./live-turn.ts";
import { type PageState, turnShown } from "./page-state.ts";
import { placeAnswers } from "./placed-answers.ts";
import { Waiting } from "./waiting.tsx";

/** Pixels from the end within which the chat keeps showing the newest. */
const NEAR_END = 80;
const SUGGESTIONS = [
  "My cat is called Minka and sleeps on the piano.",
  "What is my cat called?",
  "What are you?",
];

export function Chat({
  state,
  controller,
  onDraft,
  onInspect,
}: {
  state: PageState;
  controller: Controller;
  onDraft(text: string): void;
  /** Shows the calls of a session. */
  onInspect(key: string): void;
}) {
  const { session, key, problems, told, draft, isLoading, connection, answers, waiting } = state;
  const turn = turnShown(state);
  const entries = session?.entries ?? NO_ENTRIES;
  const placed = useMemo(() => placeAnswers(entries, answers[key]), [entries, answers[key]]);
  const items = chatItems(placed, turn);
  const running = isRunning(turn);
  const hidden = session === null ? null : hiddenText(session);
  const problem = turn?.problem ?? problems[key] ?? null;
  const name = shortName(key);
  const scroller = useStickToEnd(name);
  const demo = state.sessions.find((row) => row.demo)?.key ?? null;
  const send = (text: string) => void controller.send(text);
  return (
    <section class="chat" aria-label="Chat">
      <h2 class="hidden">Conversation</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <div class="messages" ref={scroller} tabIndex={0}>
        <div class="column" role="log" aria-label="Conversation" aria-busy={running}>
          {hidden !== null && (
            <button type="button" class="earlier" onClick={() => void controller.showEarlier()}>
              Show earlier{hidden}
            </button>
          )}
          {items.map((item) => (
            <ChatItemView key={item.id} item={item} />
          ))}
          {items.length === 0 && !isLoading && (
            <Welcome onPick={send} demo={demo} onDemo={onInspect} />
          )}
          {(turn?.notices ?? told[key] ?? []).map((notice, index) => (
            <p key={index} class="notice">
              {notice}
            </p>
          ))}
          <Progress turn={turn} isBusyElsewhere={!running && session?.busy === true} />
          {problem !== null && (
            <p class="problem" role="alert">
              <strong>That did not work.</strong> {problem.message}
            </p>
          )}
        </div>
      </div>
      <Waiting messages={waiting} onTakeBack={(id) => void controller.takeBack(id)} />
      <Composer
        draft={draft}
        isRunning={running || session?.busy === true}
        canSend={connection !== "away"}
        focusKey={name}
        onDraft={onDraft}
        onSend={(text, steers) => void controller.send(text, steers)}
        onStop={() => void controller.stop()}
      />
    </section>
  );
}

/** Null when every entry is shown. */
function hiddenText({ totalEntries, entries }: NonNullable<PageState["session"]>): string | null {
  if (totalEntries === null) return "";
  const hidden = totalEntries - entries.length;
  return hidden > 0 ? ` (${formatCount(hidden)} more)` : null;
}

const NO_ENTRIES: NonNullable<PageState["session"]>["entries"] = [];

interface WelcomeProps {
  /** The demo session; null = there is none. */
  demo: string | null;
  onPick(text: string): void;
  onDemo(key: string): void;
}

function Welcome({ demo, onPick, onDemo }: WelcomeProps) {
  return (
    <div class="welcome">
      <h2>Say something</h2>
      <p>The reply appears here. Next to it you see everything the model was shown to write it.</p>
      <ul>
        {SUGGESTIONS.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onPick(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      {demo !== null && (
        <p>
          Or look at what an agent was sent in some five hundred calls, what was left out, and why:{" "}
          <button type="button" class="link" onClick={() => onDemo(demo)}>
            inspect the demo session
          </button>
        </p>
      )}
    </div>
  );
}

function Progress({ turn, isBusyElsewhere }: { turn: LiveTurn | null; isBusyElsewhere: boolean }) {
  const text = isBusyElsewhere
    ? "A reply is being written…"
    : turn === null
      ? null
      : progressOf(turn);
  return (
    <p class="progress" role="status" hidden={text === null}>
      {text}
    </p>
  );
}

/** Null when what arrives speaks for itself. */
function progressOf({ phase, arriving, tools }: LiveTurn): string | null {
  if (phase === "ended") return null;
  if (phase !== "running") return "Waiting…";
  const isToolRunning = Object.values(tools).includes("running");
  return arriving.text !== "" || isToolRunning ? null : "Thinking…";
}

/** Keeps the newest in sight, unless the person scrolled away to read. */
function useStickToEnd(key: string) {
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    follows.current = true;
    const element = scroller.current;
    const onScroll = () => {
      if (element !== null)
        follows.current =
          element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    };
    element?.addEventListener("scroll", onScroll, { passive: true });
    return () => element?.removeEventListener("scroll", onScroll);
  }, [key]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  });
  return scroller;
}
