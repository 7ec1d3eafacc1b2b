// What whoever reads a request can ask for besides.

/** Ways back to what is not in view. */
export interface Recall {
  /** What one call for a name gives back; the name by its place in the script's. */
  find(
    name: number,
    view: { named: ReadonlySet<number>; history: number },
  ): Promise<readonly string[]>;
  /** What at most two calls for a message give back; the message by its place in the recording. */
  read(place: number): Promise<readonly string[]>;
}
