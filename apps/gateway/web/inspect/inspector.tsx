// Shows calls over time and the one that is chosen in three columns.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { shortName } from "../../src/sessions/keys.ts";
import type { Api, SessionRow } from "../api.ts";
import { formatCount, formatNumberOf } from "../format.ts";
import type { JoinedTurn } from "../joined-turn.ts";
import type { Store } from "../store.ts";
import { useStore } from "../use-store.ts";
import { ChangesColumn } from "./changes-column.tsx";
import { Detail } from "./detail.tsx";
import { Dock } from "./dock.tsx";
import { type FateFilter, filterChoices } from "./fates.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { callPath, type InspectApi, requestPath, transcriptPath } from "./inspect-api.ts";
import type { InspectController } from "./inspect-controller.ts";
import { callBefore, callShown, type InspectState, indexOfCall } from "./inspect-state.ts";
import { idOfItem } from "./item-ids.ts";
import type { Action } from "./keys.ts";
import { describeCost, describeShare, sumOfUsage } from "./ledger.ts";
import type { Link } from "./links.ts";
import { LiveCallView } from "./live-call.tsx";
import type { Opened, Place } from "./place.ts";
import type { Plot } from "./plot.ts";
import { focusSearch, SearchBox } from "./search-box.tsx";
import { SentColumn } from "./sent-column.tsx";
import type { Metric } from "./sources.ts";
import { TimelineView } from "./timeline-view.tsx";
import { TranscriptColumn } from "./transcript-column.tsx";
import { useActions } from "./use-actions.ts";
import { planOver } from "./what-if.ts";

export interface InspectorProps {
  store: Store<InspectState>;
  controller: InspectController;
  api: InspectApi;
  chat: Pick<Api, "send">;
  sessions: readonly SessionRow[];
  /** Ids of the engines there are. */
  engines: readonly string[];
  /** The turn under way; null = there is none. */
  live: JoinedTurn | null;
  onOpenSession(key: string): void;
  onChat(): void;
}

type Column = "1" | "2" | "3";

export function Inspector(props: InspectorProps) {
  const { store, controller, api, chat, sessions, engines, live, onOpenSession, onChat } = props;
  const state = useStore(store);
  const { key, rows, view, diff, entries, place, link, problem, isReading } = state;
  const { usage, whatIf, shadow } = state;
  const { tab, metric } = place;
  const [column, setColumn] = useState<Column>(place.opened === null ? "2" : "3");
  const [isHelpShown, setHelpShown] = useState(false);
  const plotRef = useRef<Plot | null>(null);
  const openedId = place.opened?.id ?? null;
  // Also by an address, or by going back.
  useEffect(() => {
    if (openedId !== null) setColumn("3");
  }, [openedId]);

  const go = useCallback((change: Partial<Place>) => void controller.go(change), [controller]);
  const onPoint = useCallback((next: Link) => store.set({ link: next }), [store]);
  const onSpan = useCallback<InspectController["need"]>(
    (span) => controller.need(span),
    [controller],
  );
  const open = useCallback(
    (opened: Opened | null) => {
      setColumn("3");
      go({ opened });
    },
    [go],
  );
  const onFilter = useCallback((filter: FateFilter) => go({ filter }), [go]);
  const act = (action: Action) => {
    const zooms: Partial<Record<Action, number>> = { "zoom-in": 0.5, "zoom-out": 2, "zoom-all": 0 };
    const by = zooms[action];
    if (by !== undefined) return plotRef.current?.zoom(by);
    switch (action) {
      case "call-before":
        return void controller.step(-1);
      case "call-after":
        return void controller.step(1);
      case "compare-before":
        return void controller.step(-1, true);
      case "compare-after":
        return void controller.step(1, true);
      case "first-call":
        return go({ call: rows[0]?.id ?? null, opened: null });
      case "last-call":
        return go({ call: null, from: null, opened: null });
      case "search":
        return focusSearch();
      case "help":
        return setHelpShown(true);
      case "close":
        return place.opened !== null ? open(null) : undefined;
      case "chat":
        return onChat();
      case "changes":
        return open(null);
      case "filter":
        return view === null ? undefined : onFilter(nextFilter(view.row.fates, place.filter));
      case "column-1":
      case "column-2":
      case "column-3": {
        const chosen = action.slice(-1) as Column;
        setColumn(chosen);
        return requestAnimationFrame(() => focusColumn(chosen));
      }
      case "why":
      case "what-if":
      case "shadow":
        return go({ tab: action });
      case "export":
        return document.getElementById("export-call")?.click();
    }
  };
  useActions(act, !isHelpShown);

  const [shownId, beforeId] = [callShown(state), callBefore(state)];
  const shown = indexOfCall(rows, shownId);
  const compared = indexOfCall(rows, beforeId);
  const total = usage === null ? null : sumOfUsage(usage);
  const over = useMemo(
    () => overOf(rows, { metric, shadow: tab === "shadow" ? shadow : null, whatIf }),
    [rows, whatIf, shadow, tab, metric],
  );
  const turns = rows.at(-1)?.turn ?? 0;
  const { sentReveal, entryReveal } = revealed(state);
  return (
    <section class="inspector" aria-label="Inspector" data-column={column}>
      <header class="inspect-head">
        <h2>
          Calls{" "}
          <span class="soft">
            {formatCount(rows.length)} in {formatNumberOf(turns, "turn")}
          </span>
        </h2>
        <p class="inspect-sums">
          {view !== null && (
            <>
              <span>
                engine <b>{view.row.engine}</b>
              </span>
              <span>
                model <b>{view.row.model}</b>
              </span>
            </>
          )}
          {total !== null && (
            <>
              <span>
                session <b>{describeCost(total)}</b>
              </span>
              <span>
                cached <b>{describeShare(total)}</b>
              </span>
            </>
          )}
        </p>
        <label class="metric">
          <span class="hidden">Shown as</span>
          <select
            value={metric}
            onChange={(event) => go({ metric: event.currentTarget.value as Metric })}
          >
            <option value="tokens">tokens</option>
            <option value="cost">cost</option>
            <option value="cache">cache</option>
          </select>
        </label>
        <SearchBox
          api={api}
          session={key}
          onGo={(change) => {
            if (change.opened != null) setColumn("3");
            go(change);
          }}
          onEntry={(number) => void controller.showEntry(number)}
        />
        <CallSteps id={shownId} controller={controller} onNewest={() => act("last-call")} />
        <div class="inspect-tools">
          {shownId !== null && <Exports session={key} call={shownId} />}
          <button type="button" class="help-button" onClick={() => setHelpShown(true)}>
            <span aria-hidden="true">?</span>
            <span class="hidden">Keys</span>
          </button>
        </div>
      </header>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {live?.call != null && <LiveCallView call={live.call} isAnswered={live.isAnswered} />}
      {rows.length === 0 ? (
        <p class="nothing">
          {isReading
            ? "Reading the calls…"
            : "No model was called in this session yet. After the first message, each call stands here with all that it was sent."}
        </p>
      ) : (
        <TimelineView
          rows={rows}
          metric={metric}
          shown={shown < 0 ? null : shown}
          compared={compared < 0 ? null : compared}
          over={over}
          plotRef={plotRef}
          onPick={(index, isShift) => {
            const id = rows[index]?.id ?? null;
            const isNewest = index === rows.length - 1;
            go(isShift ? { from: id } : { call: isNewest ? null : id, opened: null });
          }}
        />
      )}
      {view !== null && (
        <>
          <ColumnTabs column={column} onColumn={setColumn} isOpened={place.opened !== null} />
          <div class="columns" data-older={view.row.id !== shownId}>
            <TranscriptColumn
              session={shortName(key)}
              view={view}
              entries={entries}
              filter={place.filter}
              link={link}
              reveal={entryReveal}
              onFilter={onFilter}
              onOpen={({ entryId }) => open({ kind: "entry", id: entryId })}
              onPoint={onPoint}
              onSpan={onSpan}
            />
            <SentColumn
              view={view}
              link={link}
              reveal={sentReveal}
              onOpen={(item) =>
                open(
                  item.summaryId === null
                    ? { kind: "item", id: idOfItem(view.row.id, item) }
                    : { kind: "summary", id: item.summaryId },
                )
              }
              onPoint={onPoint}
            />
            {place.opened === null ? (
              <ChangesColumn
                diff={diff}
                before={beforeId}
                isBeforeThere={compared >= 0}
                link={link}
                onOpen={(item, isOfBefore) =>
                  open({
                    kind: "item",
                    id: idOfItem(isOfBefore ? (diff?.from.id ?? "") : view.row.id, item),
                  })
                }
                onPoint={onPoint}
              />
            ) : (
              <Detail
                api={api}
                session={key}
                view={view}
                diff={diff}
                opened={place.opened}
                onOpen={open}
                onCovered={(summaryId) => {
                  setColumn("1");
                  onFilter(`in:${summaryId}`);
                }}
              />
            )}
          </div>
          <Dock
            tab={tab}
            onTab={(next) => go({ tab: next })}
            view={view}
            rows={rows}
            usage={usage}
            session={key}
            api={api}
            chat={chat}
            sessions={sessions}
            engines={engines}
            whatIf={whatIf}
            shadow={shadow}
            onPlayed={(played) => store.set({ whatIf: played })}
            onShadow={(read) => store.set({ shadow: read })}
            onOpenSession={onOpenSession}
            onDone={() => void controller.refresh()}
          />
        </>
      )}
      {isHelpShown && <HelpDialog onClose={() => setHelpShown(false)} />}
    </section>
  );
}

interface Others extends Pick<InspectState, "whatIf" | "shadow"> {
  metric: Metric;
}

/** The curve over the session's own: what runs along, or what was played. */
function overOf(rows: InspectState["rows"], { metric, shadow, whatIf }: Others) {
  if (shadow !== null) {
    const points = shadow.calls.flatMap(({ shadow: point }) => point ?? []);
    return { name: shadow.summary.engine, heights: planOver(rows, points, metric) };
  }
  if (whatIf === null) return null;
  const { engine, contextWindow, points } = whatIf.played;
  const name = `what if: ${engine.ran}, ${formatCount(contextWindow)}`;
  return { name, heights: planOver(rows, points, metric) };
}

/** Where the lists stand when something was opened by a link or in another column. */
function revealed({ view, place }: InspectState) {
  const { opened } = place;
  const items = view?.items ?? [];
  const index =
    opened === null || view === null
      ? -1
      : items.findIndex((item) =>
          opened.kind === "entry"
            ? item.entryId === opened.id
            : opened.kind === "summary"
              ? item.summaryId === opened.id
              : idOfItem(view.row.id, item) === opened.id,
        );
  const number = place.filter === "all" ? (items[index]?.number ?? null) : null;
  return {
    sentReveal: index < 0 ? null : index,
    entryReveal: number === null || opened?.kind === "summary" ? null : number - 1,
  };
}

function nextFilter(counts: Parameters<typeof filterChoices>[0], filter: FateFilter): FateFilter {
  const choices = filterChoices(counts).filter(({ count }) => count > 0);
  const index = choices.findIndex((choice) => choice.filter === filter);
  return choices[(index + 1) % choices.length]?.filter ?? "all";
}

function focusColumn(column: Column): void {
  const place = document.getElementById(`column-${column}`);
  // What is read comes before what stands above it in the page.
  const first = ["[role=listbox]", "pre", "button"].flatMap((kind) => [
    ...(place?.querySelectorAll<HTMLElement>(kind) ?? []),
  ])[0];
  first?.focus();
}

interface CallStepsProps {
  id: string | null;
  controller: InspectController;
  onNewest(): void;
}

function CallSteps({ id, controller, onNewest }: CallStepsProps) {
  return (
    <fieldset class="steps">
      <legend class="hidden">Call</legend>
      <button type="button" aria-label="Call before" onClick={() => void controller.step(-1)}>
        ‹
      </button>
      <output>{id ?? "–"}</output>
      <button type="button" aria-label="Call after" onClick={() => void controller.step(1)}>
        ›
      </button>
      <button type="button" onClick={onNewest}>
        newest
      </button>
    </fieldset>
  );
}

function Exports({ session, call }: { session: string; call: string }) {
  const name = `${shortName(session)}-${call}`.replaceAll(/[^\w.-]+/g, "_");
  return (
    <details class="exports">
      <summary>Export</summary>
      <ul>
        <li>
          <a id="export-call" href={callPath(session, call)} download={`${name}.json`}>
            Call {call} (JSON)
          </a>
        </li>
        <li>
          <a href={requestPath(session, call)} download={`${name}.request.json`}>
            Its request, exactly as sent
          </a>
        </li>
        <li>
          <a href={transcriptPath(session)} download>
            The whole session (JSON Lines)
          </a>
        </li>
      </ul>
    </details>
  );
}

interface ColumnTabsProps {
  column: Column;
  isOpened: boolean;
  onColumn(column: Column): void;
}

/** Seen where there is room for one column only. */
function ColumnTabs({ column, isOpened, onColumn }: ColumnTabsProps) {
  const names = { 1: "Transcript", 2: "As sent", 3: isOpened ? "Opened" : "Changes" };
  return (
    <fieldset class="column-tabs">
      <legend class="hidden">Column</legend>
      {(["1", "2", "3"] as const).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === column}
          onClick={() => onColumn(each)}
        >
          {names[each]}
        </button>
      ))}
    </fieldset>
  );
}
