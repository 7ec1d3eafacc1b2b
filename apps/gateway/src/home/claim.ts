// Claims a home for one gateway and tells the home's commands where it is.
import { hostname } from "node:os";
import { join } from "node:path";
import { acquireLock, type LockOwner } from "../locks/lock.ts";
import { ownProcessStart } from "../locks/process-identity.ts";
import { readGatewayFile, removeGatewayFile, writeGatewayFile } from "./gateway-file.ts";
import { createIdentity, type GatewayIdentity } from "./identity.ts";
import { prepareHome } from "./prepare-home.ts";

export interface ClaimedHome {
  claimed: true;
  identity: GatewayIdentity;
  /** To be called as soon as the gateway listens. */
  announce(port: number): void;
  release(): Promise<void>;
}

/** `reason`: one sentence with the next step. */
export type ClaimOutcome = ClaimedHome | { claimed: false; reason: string };

/** A home whose gateway was killed is free at once. */
export async function claimHome(home: string): Promise<ClaimOutcome> {
  const problem = await prepareHome(home);
  if (problem !== null) return { claimed: false, reason: problem };
  const file = join(home, "gateway.lock");
  const outcome = await acquireLock(file);
  if (!outcome.held) return { claimed: false, reason: whyTaken(home, file, outcome.owner) };
  const identity = createIdentity(home);
  const withdraw = () => removeGatewayFile(home, identity.secret);
  return {
    claimed: true,
    identity,
    announce(port) {
      const { secret } = identity;
      const started = ownProcessStart();
      writeGatewayFile(home, { port, pid: process.pid, started, host: hostname(), secret });
      process.once("exit", withdraw);
    },
    async release() {
      process.removeListener("exit", withdraw);
      withdraw();
      await outcome.lock.release();
    },
  };
}

function whyTaken(home: string, file: string, owner: LockOwner | null): string {
  if (owner === null)
    return `${file} cannot be read, so it is not known whether another gateway serves ${home}; delete that file if none does.`;
  const { pid, host, since } = owner;
  if (host !== hostname())
    return `The gateway of ${home} runs on ${host} (process ${pid}, since ${since}); stop it there, or delete ${file} if that machine is gone.`;
  const found = readGatewayFile(home);
  const where = found?.pid === pid ? `runs at http://127.0.0.1:${found.port}` : "is just starting";
  return `The gateway of ${home} ${where} (process ${pid}); stop that one first, or set CLEW_HOME to another folder.`;
}
