// Begins and ends child sessions as hosts do, and checks that nobody else notices.
import { call } from "../engine-call.ts";
import { differs } from "./content.ts";
import { recordOf } from "./record.ts";
import type { Step } from "./script.ts";
import { unchanged } from "./show.ts";
import type { Stage } from "./stage.ts";
import type { Talk } from "./talk.ts";

/** A child of this session begins as the next one, unless it fails to. */
export async function spawn(
  stage: Stage,
  talk: Talk,
  step: Extract<Step, { do: "spawn" }> & { in: number },
): Promise<void> {
  const { engine } = stage;
  const child = stage.transcript(step.fork ? talk.transcript : undefined);
  const [parent, next] = [stage.namesOf(talk.transcript), stage.namesOf(child)];
  const prepare = async () => {
    if (typeof engine.prepareSubagentSpawn !== "function") return;
    const prepared = await call(engine, "prepareSubagentSpawn", {
      parentSessionKey: talk.transcript.sessionKey,
      childSessionKey: child.sessionKey,
      contextMode: step.fork ? "fork" : "isolated",
      parentSessionId: parent.sessionId,
      ...(parent.sessionFile && { parentSessionFile: parent.sessionFile }),
      childSessionId: next.sessionId,
      ...(next.sessionFile && { childSessionFile: next.sessionFile }),
    });
    if (prepared !== undefined && typeof prepared?.rollback !== "function")
      stage.fail(
        "prepareSubagentSpawn()",
        "answered neither nothing nor { rollback(): called when the child does not begin }",
      );
    if (!step.fails || prepared === undefined) return;
    try {
      await prepared.rollback();
    } catch (error) {
      stage.fail("rollback()", `threw: ${(error as Error).message}`);
    }
  };
  await unchanged(stage, talk, "a child was prepared", prepare);
  if (!step.fails) stage.begin(step.in + 1, child);
}

/** The run of the child ends whose session this is, and its session stays. */
export async function endRun(
  stage: Stage,
  talk: Talk,
  { reason }: Extract<Step, { do: "ended" }>,
): Promise<void> {
  const { engine } = stage;
  const { onSubagentEnded } = engine;
  if (typeof onSubagentEnded !== "function") return;
  // Read at once: whoever reads a file again would have it back.
  const records = () => Promise.all(stage.all().map((one) => knownOf(stage, one)));
  await unchanged(stage, talk, `onSubagentEnded() with "${reason}"`, async () => {
    const before = await records();
    await call(engine, "onSubagentEnded", {
      childSessionKey: talk.transcript.sessionKey,
      reason,
    });
    const after = await records();
    const lost = stage.all().findIndex((_, at) => differs(after[at], before[at]));
    if (lost >= 0)
      stage.fail(
        "onSubagentEnded()",
        `with "${reason}" changed what it has of ${stage.all()[lost] === talk ? "the child" : "another session"}: only one that is "deleted" is forgotten`,
      );
  });
}

/** What it has of a session, also by the id alone. */
const knownOf = async (stage: Stage, talk: Talk) => [
  await recordOf(stage.engine, stage.ref(talk)),
  await recordOf(stage.engine, { sessionId: talk.transcript.sessionId }),
];
