// What an operator may set, and which settings there are.
import { headOf } from "@clew/plugin-sdk/transcript";
import type { Retention } from "./forget/retain.ts";
import type { StoreSettings } from "./stores.ts";

/** What an operator may say of the engine; see the plugin's configuration. */
export interface EngineSettings extends StoreSettings, Retention, ViewSettings {
  /**
   * True: turns are committed by key, as some hosts demand; then nobody can shorten a turn while it
   * runs. Absent: false.
   */
  readonly durableTurns?: boolean | undefined;
  /**
   * "code": a record lists all that it stands for, by a line for each stretch of the past. "model":
   * and the session's model says in words what was done in it. "off": it lists nothing, and
   * stretches are made when a tool asks for them. Absent: "off".
   */
  readonly summaries?: "off" | "code" | "model" | undefined;
  /** Calls of a model for words, of one session in ten minutes. Absent: 24. */
  readonly summaryCalls?: number | undefined;
  /** How long one of them may take, seconds. Absent: 30. */
  readonly summaryTimeoutSeconds?: number | undefined;
  /** How long a model is left alone that brought nothing four times in a row. Absent: 30. */
  readonly summaryRestMinutes?: number | undefined;
  /** How long a search by the tools may take before it says how far it came. Absent: 5. */
  readonly searchSeconds?: number | undefined;
}

/** What an operator may say of views. */
interface ViewSettings {
  /** Tokens of messages above which a view is cut. Absent: 97 % of the budget, 124,160 at most. */
  readonly highWaterTokens?: number | undefined;
  /** What a cut goes down to. Absent: it follows from the budget. */
  readonly lowWaterTokens?: number | undefined;
  /** Most tokens of the lines of the past. Absent: 3,700; never above an eighth of the budget. */
  readonly pastTokens?: number | undefined;
}

/**
 * Throws a TypeError for a name that no setting has, a value that one cannot have, and marks that
 * contradict each other; hosts check values by the manifest, too.
 */
export function assertSettings(settings: EngineSettings): void {
  const { highWaterTokens: high, lowWaterTokens: low } = settings;
  for (const [name, value] of Object.entries(settings)) {
    const kind = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof EngineSettings] : undefined;
    if (kind === undefined)
      throw new TypeError(
        `The lossless engine has no setting ${JSON.stringify(name)}; it has: ${Object.keys(SETTINGS).join(", ")}.`,
      );
    if (value !== undefined && !kind.allows(value))
      throw new TypeError(
        `The setting ${name} of the lossless engine is ${kind.is}, and was given ${shown(value)}.`,
      );
  }
  if (high !== undefined && low !== undefined && low >= high)
    throw new TypeError(
      `The settings of the lossless engine contradict each other: a view is cut above highWaterTokens, ${high}, so lowWaterTokens, ${low}, has to be less.`,
    );
}

function shown(value: unknown): string {
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > MOST_SHOWN ? `${headOf(text, MOST_SHOWN)}…` : text;
}

const MOST_SHOWN = 60;

/** What a setting may be. */
interface Kind {
  /** Ends "The setting is". */
  readonly is: string;
  readonly allows: (value: unknown) => boolean;
}

const isNumber = (value: unknown): value is number => typeof value === "number";
const truth: Kind = { is: "true or false", allows: (value) => typeof value === "boolean" };
const patterns: Kind = {
  is: "a list of patterns of session keys",
  allows: (value) => Array.isArray(value) && value.every((each) => isText(each)),
};
const isText = (value: unknown) => typeof value === "string" && value !== "";
const above0: Kind = { is: "a number above 0", allows: (value) => isNumber(value) && value > 0 };
const whole = (least: number): Kind => ({
  is: `a whole number, ${least} or more`,
  allows: (value) => isNumber(value) && Number.isInteger(value) && value >= least,
});

/** In the order of the manifest. */
const SETTINGS: Readonly<Record<keyof EngineSettings, Kind>> = {
  databasePath: { is: "a path", allows: isText },
  compress: truth,
  durableTurns: truth,
  highWaterTokens: whole(1),
  lowWaterTokens: whole(1),
  summaries: {
    is: '"off", "code" or "model"',
    allows: (value) => ["off", "code", "model"].includes(value as string),
  },
  pastTokens: whole(100),
  summaryCalls: whole(0),
  summaryTimeoutSeconds: above0,
  summaryRestMinutes: {
    is: "a number, 0 or more",
    allows: (value) => isNumber(value) && value >= 0,
  },
  searchSeconds: above0,
  ignoreSessionPatterns: patterns,
  statelessSessionPatterns: patterns,
  keepDays: above0,
  keepMegabytes: above0,
  keepNewest: whole(0),
};
