// Shows calls over time and the one that is chosen in three columns.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, formatDollars, formatNumberOf } from "../../src/conversation/format.ts";
import { fillText } from "../../src/inspect/peaks.ts";
import { shortName } from "../../src/sessions/keys.ts";
import type { Api, SessionRow } from "../api.ts";
import type { JoinedTurn } from "../joined-turn.ts";
import type { Store } from "../store.ts";
import { useStore } from "../use-store.ts";
import { absenceOf, absenceOfCalls, absenceOfDiff } from "./absence.ts";
import { ChangesColumn, COMPARE_BOX } from "./changes-column.tsx";
import { Detail } from "./detail.tsx";
import { Dock, idOfTab } from "./dock.tsx";
import { Exports } from "./exports.tsx";
import { type FateFilter, filterChoices } from "./fates.ts";
import { focusNow, focusSoon } from "./focus-soon.ts";
import { HelpDialog } from "./help-dialog.tsx";
import type { InspectApi } from "./inspect-api.ts";
import type { InspectController } from "./inspect-controller.ts";
import {
  callBefore,
  callShown,
  type InspectState,
  indexOfCall,
  missingCalls,
  placeOfRow,
  rowAt,
} from "./inspect-state.ts";
import { idOfItem } from "./item-ids.ts";
import type { Action } from "./keys.ts";
import { describeCost, describeShare, familyHeading, sumOfUsage, usageOf } from "./ledger.ts";
import type { Link } from "./links.ts";
import { LiveCallView } from "./live-call.tsx";
import { type DockTab, nameInWords, type Opened, type Place } from "./place.ts";
import type { Plot } from "./plot.ts";
import { focusSearch, SearchBox } from "./search-box.tsx";
import { SentColumn } from "./sent-column.tsx";
import type { Metric } from "./sources.ts";
import { TimelineView } from "./timeline-view.tsx";
import { TranscriptColumn } from "./transcript-column.tsx";
import { useActions } from "./use-actions.ts";
import { useFold } from "./use-fold.ts";
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
  const { key, rows, letGoTurns, unreadableTurns, missingTurns } = state;
  const { view, diff, entries, place, link, problem } = state;
  const { usage, whatIf, shadow, items, proof, total: callCount } = state;
  const { of: row } = entries;
  const [isUnfolded, setUnfolded] = useFold();
  // Where the focus was when something was opened.
  const opener = useRef("sent");
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
  const onPoint = useCallback(
    (next: Link) => {
      const { link: now } = store.get();
      const isSame = now.entryId === next.entryId && now.summaryId === next.summaryId;
      if (!isSame) store.set({ link: next });
    },
    [store],
  );
  const onSpan = useCallback<InspectController["need"]>(
    (span) => controller.need(span),
    [controller],
  );
  const onItemSpan = useCallback<InspectController["needItems"]>(
    (span) => controller.needItems(span),
    [controller],
  );
  const open = useCallback(
    (opened: Opened | null) => {
      const { activeElement } = document;
      const isInside = activeElement?.closest(".detail") != null;
      if (activeElement?.classList.contains("list")) opener.current = activeElement.id;
      // What has the focus goes.
      // A row of the changes went when what it tells was opened in their place.
      const isNowhere = activeElement === document.body && store.get().place.opened !== null;
      if (opened === null && (isInside || isNowhere)) focusSoon(opener.current);
      setColumn("3");
      go({ opened });
    },
    [go, store],
  );
  const onTab = useCallback(
    (next: DockTab) => {
      setUnfolded(true);
      go({ tab: next });
    },
    [go],
  );
  const onShadow = useCallback<(read: InspectState["shadow"]) => void>(
    (read) => store.set({ shadow: read }),
    [store],
  );
  const onPlayed = useCallback<(played: InspectState["whatIf"]) => void>(
    (played) => store.set({ whatIf: played }),
    [store],
  );
  const onDone = useCallback(() => void controller.refresh(), [controller]);
  const onCompare = useCallback(
    (call: string | null) => go({ from: call === null ? null : nameInWords(call) }),
    [go],
  );
  const onFilter = useCallback((filter: FateFilter) => go({ filter }), [go]);
  const onPick = useCallback(
    (index: number, isShift: boolean) => {
      const { rows: all } = store.get();
      const id = all[index]?.id ?? null;
      const isNewest = index === all.length - 1;
      // One is not compared with itself.
      const from = id === callShown(store.get()) ? null : id;
      go(isShift ? { from } : { call: isNewest ? null : id, opened: null });
    },
    [store, go],
  );
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
      case "dearest":
      case "fullest": {
        const id = state.peaks[action]?.id;
        return id === undefined ? undefined : go({ call: id, opened: null });
      }
      case "compare-here":
        return go({ from: place.from === null ? callShown(state) : null });
      case "compare-with":
        if (place.opened !== null) open(null);
        setColumn("3");
        return place.opened === null ? focusNow(COMPARE_BOX) : focusSoon(COMPARE_BOX);
      case "search":
        return focusSearch();
      case "help":
        return setHelpShown(true);
      case "close":
        return place.opened !== null ? open(null) : undefined;
      case "chat":
        return onChat();
      case "changes":
        open(null);
        return place.from === null ? undefined : go({ from: null });
      case "filter":
        return row === null ? undefined : onFilter(nextFilter(row.fates, place.filter));
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
        focusSoon(idOfTab(action));
        return onTab(action);
      case "fold":
        return setUnfolded(!isUnfolded);
      case "entry": {
        const pointed = openedBy(link);
        if (pointed === null) return focusColumn(column === "2" ? "2" : "1");
        open(pointed);
        return focusSoon("column-3");
      }
      case "export":
        return document.getElementById("export-call")?.click();
    }
  };
  useActions(act);

  const [shownId, beforeId] = [callShown(state), callBefore(state)];
  const shown = indexOfCall(rows, shownId);
  const compared = indexOfCall(rows, beforeId);
  const spent = usage === null ? null : usageOf(usage, key);
  const own = spent?.own == null ? null : sumOfUsage(spent.own, usage!.untold);
  const family = spent === null ? null : sumOfUsage(spent.all, usage!.untold);
  const withOthers = spent === null ? null : familyHeading(spent);
  const over = useMemo(
    () => overOf(rows, { metric, shadow: tab === "shadow" ? shadow : null, whatIf }),
    [rows, whatIf, shadow, tab, metric],
  );
  const [missing] = missingCalls(state);
  const { sentReveal, entryReveal } = revealed(state);
  return (
    <section class="inspector" aria-label="Inspector" data-column={column}>
      <header class="inspect-head">
        <h2>
          Calls{" "}
          <span class="soft">
            {formatCount(callCount)} in {formatNumberOf(state.sums.turns, "turn")}
          </span>
        </h2>
        <p class="inspect-sums">
          {row !== null && (
            <>
              <span>
                engine <b>{row.engine}</b>
              </span>
              <span>
                model <b>{row.model}</b>
              </span>
            </>
          )}
          {own !== null && (
            <>
              <span>
                {usage!.unpaid === null ? "session cost" : "not paid"} <b>{describeCost(own)}</b>
              </span>
              <span>
                cached <b>{describeShare(own)}</b>
              </span>
            </>
          )}
          {family !== null && withOthers !== null && (
            <span>
              {withOthers} <b>{describeCost(family)}</b>
            </span>
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
            const isSent = change.opened == null && change.from == null;
            setColumn(isSent ? "2" : "3");
            focusSoon(isSent ? "sent" : change.opened == null ? "changes" : "column-3");
            go(change);
          }}
          onEntry={(number, entryId) => {
            focusSoon("column-3");
            void controller.showEntry(number, entryId);
          }}
        />
        <CallSteps id={shownId} controller={controller} state={state} act={act} />
        <div class="inspect-tools">
          {shownId !== null && missing === undefined && <Exports session={key} call={shownId} />}
          <button type="button" class="help-button" onClick={() => setHelpShown(true)}>
            <span aria-hidden="true">?</span>
            <span class="hidden">Keys</span>
          </button>
        </div>
      </header>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}{" "}
          {missing !== undefined && rows.length > 0 && (
            <button type="button" class="link" onClick={() => act("last-call")}>
              Show the newest call
            </button>
          )}
        </p>
      )}
      {live?.call != null && (
        <LiveCallView
          call={live.call}
          isAnswered={live.isAnswered}
          onOpen={(id) => go({ call: id, opened: null })}
        />
      )}
      {rows.length === 0 ? (
        <p class="nothing">{absenceOfCalls(state)}</p>
      ) : (
        <TimelineView
          rows={rows}
          letGoTurns={letGoTurns}
          unreadableTurns={unreadableTurns}
          missingTurns={missingTurns}
          metric={metric}
          shown={shown < 0 ? null : shown}
          compared={compared < 0 ? null : compared}
          over={over}
          plotRef={plotRef}
          onPick={onPick}
        />
      )}
      {row !== null && (
        <>
          <ColumnTabs column={column} onColumn={setColumn} isOpened={place.opened !== null} />
          <div class="columns" data-older={(view?.row ?? row).id !== shownId}>
            <TranscriptColumn
              session={shortName(key)}
              row={row}
              entries={entries}
              filter={entries.filter}
              link={link}
              reveal={entryReveal}
              onFilter={onFilter}
              onOpen={({ entryId }) => open({ kind: "entry", id: entryId })}
              onPoint={onPoint}
              onSpan={onSpan}
            />
            {view === null ? (
              <section class="column-of" aria-label="As sent" id="column-2">
                <p class="column-fact">{absenceOf(state) ?? "Reading what was sent…"}</p>
              </section>
            ) : (
              <SentColumn
                view={view}
                items={items}
                absence={absenceOf(state)}
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
                onSpan={onItemSpan}
              />
            )}
            {place.opened === null || view === null ? (
              <ChangesColumn
                diff={diff}
                before={beforeId}
                chosen={place.from}
                onCompare={onCompare}
                isBeforeThere={compared >= 0}
                absence={view === null ? absenceOf(state) : absenceOfDiff(state)}
                link={link}
                onOpen={(item, isOfBefore) =>
                  open({
                    kind: "item",
                    id: idOfItem((isOfBefore ? diff?.from.id : diff?.to.id) ?? "", item),
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
                calls={callCount}
                onOpen={open}
                onCall={(id) => go({ call: id })}
                onCovered={(summaryId) => {
                  setColumn("1");
                  onFilter(`in:${summaryId}`);
                }}
              />
            )}
          </div>
          {view !== null && (
            <Dock
              tab={tab}
              onTab={onTab}
              isUnfolded={isUnfolded}
              onFold={setUnfolded}
              view={view}
              proof={proof}
              rows={rows}
              usage={usage}
              sums={state.sums}
              session={key}
              api={api}
              chat={chat}
              sessions={sessions}
              engines={engines}
              whatIf={whatIf}
              shadow={shadow}
              onPlayed={onPlayed}
              onShadow={onShadow}
              onOpenSession={onOpenSession}
              onDone={onDone}
            />
          )}
        </>
      )}
      {isHelpShown && <HelpDialog onClose={() => setHelpShown(false)} />}
    </section>
  );
}

/** What `e` opens: what is pointed at, as it is stored; null = nothing is. */
function openedBy({ entryId, summaryId }: Link): Opened | null {
  if (entryId !== null) return { kind: "entry", id: entryId };
  return summaryId === null ? null : { kind: "summary", id: summaryId };
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
function revealed({ view, items, entries, place }: InspectState) {
  const { opened } = place;
  const index =
    opened === null || view === null
      ? -1
      : placeOfRow(items, (item) =>
          opened.kind === "entry"
            ? item.entryId === opened.id
            : opened.kind === "summary"
              ? item.summaryId === opened.id
              : idOfItem(view.row.id, item) === opened.id,
        );
  const sent = place.filter === "all" ? (rowAt(items, index)?.number ?? null) : null;
  // What was not sent stands in the transcript alone.
  const listed =
    opened?.kind === "entry" ? placeOfRow(entries, ({ entryId }) => entryId === opened.id) : -1;
  return {
    sentReveal: index < 0 ? null : index,
    entryReveal:
      listed >= 0 ? listed : sent === null || opened?.kind === "summary" ? null : sent - 1,
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
  state: Pick<InspectState, "peaks" | "place">;
  act(action: Action): void;
}

function CallSteps({ id, controller, state, act }: CallStepsProps) {
  const { peaks, place } = state;
  const { dearest, fullest } = peaks;
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
      <button type="button" onClick={() => act("last-call")}>
        newest
      </button>
      <button
        type="button"
        disabled={dearest === null}
        title={
          dearest === null
            ? "Of no call it is known what it cost"
            : `Call ${dearest.id}: ${formatDollars(dearest.dollars)} of its own, side calls aside ($)`
        }
        onClick={() => act("dearest")}
      >
        dearest
      </button>
      <button
        type="button"
        disabled={fullest === null}
        title={
          fullest === null
            ? "Of no call its budget is known"
            : `Call ${fullest.id}: ${formatCount(fullest.tokens)} of ${formatCount(fullest.promptBudget)} tokens, ${fillText(fullest)} (%)`
        }
        onClick={() => act("fullest")}
      >
        fullest
      </button>
      <button
        type="button"
        aria-pressed={place.from !== null}
        title={
          place.from === null
            ? "Compare other calls with this one (m)"
            : `Calls are compared with ${place.from}; again: each with the one before it (m)`
        }
        onClick={() => act("compare-here")}
      >
        compare
      </button>
    </fieldset>
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
