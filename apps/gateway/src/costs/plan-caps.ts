// Decides whether a cost cap comes near, or keeps a model from being asked.
import type { CostCaps } from "../config/cost-caps.ts";
import { shortName } from "../sessions/keys.ts";
import { capText, ofCapText } from "./describe.ts";
import { NOTHING, type Spent, spentOn, type Totals } from "./totals.ts";

/** A cap, for whom it is, and what was spent of it. */
export interface CapState {
  setting: "sessionDollars" | "agentDayDollars" | "dayDollars";
  /** Whom it is for, and how much: what a warning is remembered by. */
  name: string;
  cap: number;
  spent: Spent;
  /** For people: "of session main". */
  of: string;
}

export interface CapVerdict {
  /** The cap that nothing may be spent beyond; null = none is reached. */
  stop: CapState | null;
  /** Caps that come near, of which nobody was told. */
  near: CapState[];
}

interface Asked {
  /** The session that nobody started. */
  root: string;
  agent: string;
  /** YYYY-MM-DD. */
  day: string;
}

/** Pure. */
export function planCaps(caps: CostCaps, totals: Totals, asked: Asked): CapVerdict {
  const states = capStates(caps, totals, asked);
  const isNear = ({ cap, spent, name }: CapState) =>
    spent.dollars >= cap * caps.warnShare && totals.warned[name] === undefined;
  return {
    stop: states.find(({ cap, spent }) => spent.dollars >= cap) ?? null,
    near: caps.warnShare >= 1 ? [] : states.filter(isNear),
  };
}

/** Pure. Every cap that is set, as it stands. */
export function capStates(caps: CostCaps, totals: Totals, { root, agent, day }: Asked): CapState[] {
  const { sessionDollars, agentDayDollars, dayDollars } = caps;
  return [
    ...state("sessionDollars", sessionDollars, {
      name: `session ${root}`,
      spent: totals.sessions[root] ?? NOTHING,
      of: `of session "${shortName(root)}"`,
    }),
    ...state("agentDayDollars", agentDayDollars, {
      name: `agent ${agent} ${day}`,
      spent: totals.days[day]?.[agent] ?? NOTHING,
      of: `of agent "${agent}" for today`,
    }),
    ...state("dayDollars", dayDollars, {
      name: `day ${day}`,
      spent: spentOn(totals, day),
      of: "of all agents for today",
    }),
  ];
}

/** Whoever raises a cap is told anew. */
const state = (
  setting: CapState["setting"],
  cap: number | undefined,
  about: Pick<CapState, "name" | "spent" | "of">,
): CapState[] =>
  cap === undefined ? [] : [{ ...about, setting, cap, name: `${about.name} ${cap}` }];

/** Pure. One sentence for whoever waits. `isOneOfMany`: other gateways have sessions, too. */
export function describeStop(state: CapState, { isOneOfMany = false } = {}): string {
  const { setting } = state;
  const otherwise =
    setting === "sessionDollars"
      ? "begin anew with /new"
      : "wait until tomorrow, when it counts anew";
  // Each goes by the settings of its own home.
  const place = isOneOfMany ? ", in the home of the gateway that has the session," : "";
  return `The cost cap ${spentText(state)}, so no model was asked: raise it${place} with "clew config set gateway.costCaps.${setting} ${enough(state)}", or ${otherwise}.`;
}

/** Twice the cap, or twice that, until a call more may be made. */
function enough({ cap, spent }: CapState): number {
  const times = Math.ceil(Math.log2((spent.dollars * LEFT) / cap));
  return Number((cap * 2 ** Math.max(1, times)).toPrecision(12));
}

/** A tenth of what was spent. */
const LEFT = 1.1;

/** Pure. */
export const describeNear = (state: CapState): string =>
  `The cost cap ${spentText(state)}; at ${capText(state.cap)} no model is asked any more (gateway.costCaps.${state.setting}).`;

function spentText({ of, cap, spent }: CapState): string {
  const unknown =
    spent.unknown === 0
      ? ""
      : `, and ${spent.unknown} of ${spent.modelCalls} calls are not counted, as nobody knows what they cost`;
  return `${of} is spent to ${percentOf(spent.dollars, cap)} %, ${ofCapText(spent.dollars, cap)} of ${capText(cap)}${unknown}`;
}

/** What floating point makes of a whole cap is no percent less, nor is what is below it all. */
function percentOf(spent: number, cap: number): number {
  const percent = Math.floor((100 * spent) / cap);
  return spent < cap ? Math.min(99, percent) : Math.max(100, percent);
}
