// Keeps what a session's person allowed for the rest of it, across restarts.
import { hash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { z } from "zod";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { ApprovalRequest } from "./approval.ts";

const GrantsSchema = z.object({
  v: z.literal(1),
  sessionKey: z.string(),
  grants: z.array(
    z.object({
      /** Kind and id of who asked. */
      asker: z.string(),
      /** Of the tool. */
      name: z.string(),
      /** Null: any call of it. */
      grant: z.string().nullable(),
      /** ISO 8601. */
      at: z.string(),
    }),
  ),
});
type Grants = z.infer<typeof GrantsSchema>;
type Session = ApprovalRequest["session"];

export interface GrantFiles {
  has(request: ApprovalRequest): Promise<boolean>;
  /** Durable when it resolves. */
  add(request: ApprovalRequest): Promise<void>;
  /** Everything that was allowed in a session. */
  forget(session: Session): Promise<void>;
}

/** A session is open in one process only, so nobody else writes its file. */
export function createGrantFiles({ home, log }: { home: string; log: LogPort }): GrantFiles {
  const fileOf = ({ agentId, sessionKey }: Session) =>
    join(agentPaths(home, agentId).approvals, `${hash("sha256", sessionKey).slice(0, 32)}.json`);
  const read = async (session: Session): Promise<Grants["grants"]> => {
    const file = fileOf(session);
    try {
      const { sessionKey, grants } = GrantsSchema.parse(fromJson(await readFile(file, "utf8")));
      return sessionKey === session.sessionKey ? grants : [];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        log.warn(`${file} cannot be read as approvals, so people are asked again.`);
      return [];
    }
  };
  const has = (grants: Grants["grants"], request: ApprovalRequest) => {
    const wanted = grantOf(request);
    return grants.some((grant) => isSame(grant, wanted));
  };
  return {
    has: async (request) => has(await read(request.session), request),
    async add(request) {
      const grants = await read(request.session);
      if (has(grants, request)) return;
      const file = fileOf(request.session);
      const { sessionKey } = request.session;
      const added = { ...grantOf(request), at: new Date().toISOString() };
      const kept = { v: 1, sessionKey, grants: [...grants, added] } satisfies Grants;
      await makeOwnFolder(home, dirname(file));
      await writeOwn(file, `${toJson(kept, null, 2)}\n`);
    },
    forget: (session) => rm(fileOf(session), { force: true }),
  };
}

/** Pure. Whether an answer for the rest of the session to one of them answers the other. */
export function isSameGrant(first: ApprovalRequest, second: ApprovalRequest): boolean {
  const [one, other] = [grantOf(first), grantOf(second)];
  return first.session.sessionKey === second.session.sessionKey && isSame(one, other);
}

const grantOf = ({ asker, name, grant }: ApprovalRequest) => ({
  asker: `${asker.kind}:${asker.id}`,
  name,
  grant: grant ?? null,
});

type Grant = Omit<Grants["grants"][number], "at">;

const isSame = (one: Grant, other: Grant): boolean =>
  one.asker === other.asker && one.name === other.name && one.grant === other.grant;
