// Decides which gateway does what only one of them may do at a time.
import type { Database, Statement } from "./database.ts";
import { LIVES } from "./node.ts";

/** Who has a duty. */
export type DutyPlace =
  /** The one that asked, for as long as it lives. */
  | { kind: "own" }
  /** Another one, by its address; null: it has just died. */
  | { kind: "other"; address: string | null };

/** As with a session, whoever has it already takes it anew: an answer may have been lost. */
const TAKE: Statement<{ name: string }> = {
  name: "duty-take",
  text: `
    insert into duty as d (name, owner) values ($1, $2)
    on conflict (name) do update set owner = $2
      where d.owner = $2
        or not exists (select 1 from node n where n.id = d.owner and ${LIVES("n")})
    returning name`,
};

const OWNER: Statement<{ address: string }> = {
  name: "duty-owner",
  text: `
    select n.address from duty d join node n on n.id = d.owner and ${LIVES("n")}
    where d.name = $1`,
};

/** Takes it where nobody who lives has it. */
export async function takeDuty(
  database: Database,
  name: string,
  nodeId: string,
): Promise<DutyPlace> {
  const [taken] = await database.ask(TAKE, [name, nodeId]);
  if (taken !== undefined) return { kind: "own" };
  return { kind: "other", address: await dutyOwner(database, name) };
}

/** Address of the gateway that has it; null: none that lives. */
export const dutyOwner = async (database: Database, name: string): Promise<string | null> =>
  (await database.ask(OWNER, [name]))[0]?.address ?? null;
