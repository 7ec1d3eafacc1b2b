// What the doctor reports about each thing that it checks.

/** What a finding is about, for programs; the text may change, the code does not. */
export type FindingCode =
  | "node"
  | "home"
  | "home-missing"
  | "home-not-writable"
  | "home-open-to-others"
  | "settings"
  | "settings-invalid"
  | "settings-unknown-key"
  | "slot-stale"
  | "slot-removed"
  | "engine"
  | "engine-asked"
  | "engine-check"
  | "engine-unusable"
  | "engine-failed"
  | "engine-failed-lately"
  | "engine-switched-off"
  | "engine-host-lacks"
  | "engine-other-id"
  | "engine-set-aside"
  | "engine-idle-compactions"
  | "engine-bad-views"
  | "engine-aligned-views"
  | "engine-under-estimates"
  | "engine-turns-parked"
  | "engine-complaint"
  | "engine-store"
  | "engine-store-broken"
  | "plugin"
  | "plugin-failed"
  | "plugin-off"
  | "plugin-diagnostic"
  | "plugin-stray-error"
  | "plugin-records-unreadable"
  | "compaction"
  | "compaction-idle-key"
  | "compaction-marks"
  | "compaction-model-unusable"
  | "model"
  | "model-passed-over"
  | "model-unusable"
  | "model-key-refused"
  | "model-sign-in"
  | "model-server-away"
  | "model-resting"
  | "model-fallback-unusable"
  | "model-agent-unusable"
  | "images-not-reduced"
  | "token-ratio"
  | "learned-window"
  | "gateway"
  | "gateway-not-running"
  | "gateway-elsewhere"
  | "gateway-lock-removed"
  | "gateway-lock-unreadable"
  | "gateway-silent"
  | "gateway-stranger"
  | "gateway-tells-nothing"
  | "gateway-unannounced"
  | "sessions"
  | "session-checkpoint-damaged"
  | "session-checkpoint-removed"
  | "session-in-use"
  | "session-not-a-transcript"
  | "session-unreadable"
  | "session-unreadable-lines"
  | "session-damaged"
  | "session-repaired"
  | "sessions-kept-aside"
  | "repair-leftovers"
  | "repair-leftovers-removed"
  | "deliveries-damaged"
  | "deliveries-repaired"
  | "deliveries-unreadable"
  | "index-incomplete"
  | "index-rebuilt";

export interface Finding {
  /**
   * ok; note = fine, but good to know; warning = works, with less than intended;
   * failure = does not work.
   */
  level: "ok" | "note" | "warning" | "failure";
  code: FindingCode;
  /** What was looked at, e.g. "settings". */
  subject: string;
  /** What was found and, unless it is ok, the next step. */
  text: string;
}
