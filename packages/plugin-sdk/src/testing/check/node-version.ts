// Says where the version of Node is too old to check engines.

/** The first that the kit is written for, as in the manifest of the package. */
const LEAST = [22, 15] as const;

/** Pure. Undefined: it is new enough; else one sentence. `version`: as `process.versions.node`. */
export function nodeFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [least, least2] = LEAST;
  return major > least || (major === least && minor >= least2)
    ? undefined
    : `plugin-sdk check needs Node ${least}.${least2} or newer, and this is Node ${version}; start it with a newer one.`;
}
