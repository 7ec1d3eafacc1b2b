// What an operator may set, and which settings there are.
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
  /** Tokens of messages above which a view is cut. Absent: 97 % of the budget, 124,000 at most. */
  readonly highWaterTokens?: number | undefined;
  /** What a cut goes down to. Absent: it follows from the budget. */
  readonly lowWaterTokens?: number | undefined;
  /** Most tokens of the lines of the past. Absent: 3,700; never above an eighth of the budget. */
  readonly pastTokens?: number | undefined;
}

/** Throws a TypeError for a name that no setting has; hosts check values by the manifest. */
export function assertSettings(settings: EngineSettings): void {
  const unknown = Object.keys(settings).find((name) => !SETTINGS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(
      `The lossless engine has no setting ${JSON.stringify(unknown)}; it has: ${SETTINGS.join(", ")}.`,
    );
}

/** In the order of the manifest. */
const SETTINGS: readonly string[] = [
  "databasePath",
  "compress",
  "durableTurns",
  "highWaterTokens",
  "lowWaterTokens",
  "summaries",
  "pastTokens",
  "summaryCalls",
  "summaryTimeoutSeconds",
  "summaryRestMinutes",
  "searchSeconds",
  "ignoreSessionPatterns",
  "statelessSessionPatterns",
  "keepDays",
  "keepMegabytes",
  "keepNewest",
] satisfies (keyof EngineSettings)[];
