// Decides which calls of `process` a plugin may not make.
import { type GuardedPids, reachesGateway } from "./guarded-pids.ts";

export type ActPlan =
  | { kind: "allowed" }
  /** What the plugin asked for, as code, and what that would do. `isLoud`: it gets an error. */
  | { kind: "refused"; asked: string; why: string; isLoud: boolean };

/** Members of `process` that are asked about before a plugin's call of them is made. */
export const WATCHED_ACTS = [
  "exit",
  "reallyExit",
  "abort",
  "kill",
  "_kill",
  "disconnect",
  "emit",
  "setUncaughtExceptionCaptureCallback",
  "addUncaughtExceptionCaptureCallback",
  "_getActiveHandles",
  "_getActiveRequests",
  "execve",
  "setuid",
  "seteuid",
  "setgid",
  "setegid",
  "setgroups",
  "initgroups",
] as const;
export type WatchedAct = (typeof WATCHED_ACTS)[number];

/** Events of `process` whose listeners decide whether it lives on: they are the gateway's alone. */
const ERROR_EVENTS = ["uncaughtException", "uncaughtExceptionMonitor", "unhandledRejection"];

const ALLOWED: ActPlan = { kind: "allowed" };
const END = "would end the gateway";

/** Pure. `pids`: of the gateway. */
export function planAct(member: WatchedAct, given: readonly unknown[], pids: GuardedPids): ActPlan {
  const refused = (why: string, isLoud = true): ActPlan => ({
    ...{ kind: "refused", why, isLoud },
    asked: `process.${member}(${given.slice(0, 2).map(shown).join(", ")})`,
  });
  switch (member) {
    case "kill":
    case "_kill":
      return reachesGateway(given[0], pids) && given[1] !== 0 ? refused(END) : ALLOWED;
    case "emit":
      if (ERROR_EVENTS.includes(given[0] as string))
        return refused("would tell of an error that there is not", false);
      return isHeeded(given[0]) ? refused(END, false) : ALLOWED;
    case "setUncaughtExceptionCaptureCallback":
    case "addUncaughtExceptionCaptureCallback":
      return refused("would keep errors from the gateway");
    case "_getActiveHandles":
    case "_getActiveRequests":
      return refused("would give it what the gateway holds open", false);
    case "execve":
      return refused("would put another program in the gateway's place");
    case "setuid":
    case "seteuid":
    case "setgid":
    case "setegid":
    case "setgroups":
    case "initgroups":
      return refused("would take the gateway's rights from it");
    default:
      return refused(END);
  }
}

/** Pure. A listener for it would decide for the gateway. */
export function planListener(event: unknown): ActPlan {
  if (!ERROR_EVENTS.includes(String(event))) return ALLOWED;
  return {
    ...{ kind: "refused", why: "would answer errors in the gateway's place", isLoud: false },
    asked: `process.on(${shown(event)})`,
  };
}

const isHeeded = (event: unknown) =>
  typeof event === "string" &&
  (/^SIG[A-Z]/.test(event) || ["exit", "beforeExit", "disconnect"].includes(event));

/** Never throws; what is no plain value is not looked at. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return value === undefined || value === null ? String(value) : "…";
}
