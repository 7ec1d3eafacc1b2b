// Decides which settings of lossless-claw have a counterpart here.

/** A setting that is not carried. */
export interface DroppedSetting {
  /** Its name. */
  readonly key: string;
  /** A clause. */
  readonly why: string;
}

/** What becomes of the settings. */
export interface SettingsPlan {
  /** Settings of this engine, by their names. */
  readonly carried: Readonly<Record<string, unknown>>;
  /** Those without a counterpart. */
  readonly dropped: readonly DroppedSetting[];
}

const SAME: ReadonlySet<string> = new Set(["ignoreSessionPatterns", "statelessSessionPatterns"]);

/** Theirs in ms, ours in larger units. */
const TIMES: ReadonlyMap<string, readonly [key: string, ms: number]> = new Map([
  ["summaryTimeoutMs", ["summaryTimeoutSeconds", 1_000]],
  ["circuitBreakerCooldownMs", ["summaryRestMinutes", 60_000]],
]);

const BUDGET = "what is shown follows from the model's window and the host's budget";
const SUMMARIES =
  'code makes the summaries, and with summaries: "model" the session\'s own model adds words to them';
const FILES = "long texts stand apart from their messages in the database, each once";
const CALLS = "recall asks the session's own model once, within the tool's own bounds";
const PAST = "it worked around what this engine does not do";

/** Why a setting has no counterpart, by its name or by how it begins. */
const REASONS: readonly (readonly [names: RegExp, why: string])[] = [
  [/^(?:dbPath|databasePath|enabled)$/, "the database and the slot of this engine are its own"],
  [/^largeFile.*(?:Model|Provider)$/, "no model describes long texts"],
  [/^(?:largeFile|stubLarge)/, FILES],
  [/^(?:contextThreshold|freshTail|maxAssembly|promptAware)/, BUDGET],
  [
    /^(?:leaf|condensed|sweep|summary|maxSweep|compactUntil|fallback|circuit|customInstructions|enableSummary|cacheAware|dynamicLeaf|incremental|proactive)/,
    SUMMARIES,
  ],
  [/^(?:expansion|maxExpand|delegation)/, CALLS],
  [/^newSessionRetainDepth$/, "sessions keep everything, and recall finds what was before a reset"],
  [/^pruneHeartbeatOk$/, "runs that a host begins by itself are kept and not shown, always"],
  [/^timezone$/, "times are told in UTC"],
  [
    /^(?:bootstrap|hostFallback|skipStateless|replayFlood|autoRotate|transcriptGc|independentLog|stripInjected)/,
    PAST,
  ],
];

/** Pure. Whatever is not known is told of, too. */
export function planSettings(config: Readonly<Record<string, unknown>>): SettingsPlan {
  const carried: Record<string, unknown> = {};
  const dropped: DroppedSetting[] = [];
  for (const [key, value] of Object.entries(config)) {
    const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
    if (SAME.has(key) && isList) {
      const patterns = value.filter((each) => each !== "");
      if (patterns.length > 0) carried[key] = patterns;
      continue;
    }
    const time = TIMES.get(key);
    if (time !== undefined && typeof value === "number" && value > 0) {
      carried[time[0]] = value / time[1];
      continue;
    }
    const why = REASONS.find(([names]) => names.test(key))?.[1];
    dropped.push({ key, why: why ?? "it is no setting of lossless-claw that is known here" });
  }
  return { carried, dropped };
}
