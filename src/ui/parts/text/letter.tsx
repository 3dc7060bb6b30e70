export function Letter({ of }: { of: string }) {
  return (
    <span class="letter" aria-hidden="true">
      {/[\p{L}\p{N}]/u.exec(of)?.[0] ?? "?"}
    </span>
  );
}
