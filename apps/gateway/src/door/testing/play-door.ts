// Sends what agents ask through matcher and memory, as the door does, and keeps the books.
import { sketchAsGiven } from "../match/as-given.ts";
import { clientKeyOf } from "../match/client-key.ts";
import { type DoorEvent, KnownRequests } from "../match/known-requests.ts";
import { endOf, type IngestPlan, planIngest, requestEvent } from "../match/plan-ingest.ts";
import { type Match, planMatch } from "../match/plan-match.ts";
import { replyMarks } from "../match/reply-marks.ts";
import type { RequestSketch } from "../match/sketch.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { formOf } from "../wires/json.ts";
import type { Ask, Reply } from "./agents.ts";

export interface Handled {
  session: string;
  match: Match;
  plan: IngestPlan;
  sketch: RequestSketch;
}

export class PlayedDoor {
  known = new KnownRequests();
  readonly events: DoorEvent[] = [];
  #sessions = 0;

  request(api: DoorApi, { request, headers }: Pick<Ask, "request" | "headers">): Handled {
    const wire = DOOR_WIRES[api];
    const read = wire.read(request.body, request.path);
    if (read === undefined) throw new Error(`${api} does not read its own request`);
    const client = clientKeyOf(headers, request.body);
    const sketch = sketchAsGiven(this.known, wire, read, client);
    const match = planMatch(this.known, sketch);
    const plan = planIngest(this.known, match, sketch);
    const session = match.session ?? `s${++this.#sessions}`;
    this.#learn(requestEvent(this.known, session, { match, plan, request: sketch }));
    return { session, match, plan, sketch };
  }

  /** Null: nothing of it arrived. */
  reply({ session, match, sketch }: Handled, reply: Reply | null, hasIds = true): void {
    this.#learn({
      type: "reply",
      session,
      kind: match.kind,
      ...endOf(sketch),
      whole: reply !== null,
      ...replyMarks(match, {
        calls: hasIds ? (reply?.calls.map(({ id }) => id) ?? []) : [],
        forms: reply?.calls.map(({ name, args }) => formOf(name, args)) ?? [],
        texts: reply?.text ? [reply.text] : [],
      }),
    });
  }

  /** As after a restart: everything from what was written down. */
  restart(): void {
    this.known = new KnownRequests();
    for (const event of this.events) this.known.learn(JSON.parse(JSON.stringify(event)));
    this.known.closeAll();
  }

  #learn(event: DoorEvent): void {
    this.events.push(event);
    this.known.learn(event);
  }
}
