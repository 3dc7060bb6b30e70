/** On a 16 px grid. */
const PATHS = {
  sources: "M2 5c2-3 4-3 6 0s4 3 6 0M2 11c2-3 4-3 6 0s4 3 6 0",
  workflows: "M2 2h5v4H2zM9 10h5v4H9zM4.5 6v6H9M7 4h4.500v6",
  actions: "M9 1 3 9h4l-1 6 6-8H8z",
  webhooks: "M8 5a3 3 0 1 1 2 2l-2 4M5 7a3 3 0 1 0 2 5h4M11 9a3 3 0 1 1-1 4",
  accounts: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 14c1-4 11-4 12 0",
  stores: "M2 4c0-3 12-3 12 0v8c0 3-12 3-12 0zM2 4c0 3 12 3 12 0M2 8c0 3 12 3 12 0",
  schedule: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 5v3l2 2",
  status: "M2 9h3l2-5 3 8 1.500-3H14",
  search: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2ZM11 11l3 3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
