// Which numbers of a gateway are told as they are now.
import type { Approvals } from "../approvals/queue.ts";
import type { Door } from "../door/serve/door.ts";
import type { EventHub } from "../events/hub.ts";
import type { Gauged } from "../metrics/expose.ts";
import type { countBusy } from "./count-busy.ts";
import type { OpenedSessions } from "./opened-sessions.ts";

export interface GaugesOptions {
  busy: () => ReturnType<typeof countBusy>;
  opened: Pick<OpenedSessions, "count">;
  door: Pick<Door, "unstored">;
  events: Pick<EventHub, "followers">;
  approvals: Pick<Approvals, "pending">;
}

export const gaugesOf = ({ busy, opened, door, events, approvals }: GaugesOptions): Gauged[] => [
  { name: "clew_turns_running", help: "Turns under way.", value: () => busy().running },
  { name: "clew_turns_waiting", help: "Turns behind them.", value: () => busy().waiting },
  { name: "clew_sessions_open", help: "Sessions in memory.", value: opened.count },
  {
    name: "clew_door_unstored_sessions",
    help: "Sessions of the door that are answered and not wholly stored.",
    value: () => door.unstored().length,
  },
  { name: "clew_followers", help: "Event streams.", value: () => events.followers() },
  {
    name: "clew_approvals_pending",
    help: "Tools that wait to be allowed.",
    value: () => approvals.pending().length,
  },
];
