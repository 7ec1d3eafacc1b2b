// Does work one piece at a time.

/** Each piece of work begins when the one before has ended, however it ended. */
export function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
