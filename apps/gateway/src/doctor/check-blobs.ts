// Checks whether large bodies can be kept, read and deleted where the settings say.
import { createHash, randomBytes } from "node:crypto";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { openBlobs, planBlobsHere } from "../blobs/open-blobs.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Finding } from "./finding.ts";

const subject = "storage.blobs";
/** No database has this id, and no agent this name. */
const PROBE = { database: "doctor", agentId: "probe" };

/** Nothing is said where none are kept, or a start refuses the settings. */
export async function checkBlobs(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Promise<Finding[]> {
  const { kind } = planBlobsHere(config, environment);
  if (kind === "none" || kind === "refused") return [];
  const bytes = randomBytes(64);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const { agentId } = PROBE;
  try {
    const open = await openBlobs(config, environment);
    const blobs = open!(PROBE.database);
    await blobs.put({ agentId, hash }, bytes);
    const [found, part] = [
      await blobs.get({ agentId, hash }),
      await blobs.get({ agentId, hash }, [8, 16]),
    ];
    const isListed = (await blobs.list(agentId, null)).includes(hash);
    await blobs.drop(agentId, [hash]);
    const isGone = (await blobs.get({ agentId, hash })) === null;
    const isSame = bytes.equals(found ?? Buffer.alloc(0));
    const isPart = bytes.subarray(8, 16).equals(part ?? Buffer.alloc(0));
    if (!isSame || !isPart || !isListed || !isGone)
      return [
        unusable(
          `${blobs.place} does not keep what it is given: an object that was put ${isSame ? (isPart ? (isListed ? "was still there when it had been deleted" : "was not listed") : "was not given in part") : "did not come back"}; use another storage`,
        ),
      ];
    const text = `large parts of sessions go to ${blobs.place}, where an object was put, read, listed and deleted`;
    return [{ level: "ok", code: "blobs", subject, text }];
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    return [unusable(error.message.replace(/\.$/, ""))];
  }
}

const unusable = (text: string): Finding => ({
  ...{ level: "failure", code: "blobs-unusable", subject },
  text,
});
