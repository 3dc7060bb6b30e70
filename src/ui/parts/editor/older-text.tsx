/** Somebody else saved meanwhile. */
export function OlderText() {
  return (
    <p class="note attention" role="status">
      This was changed elsewhere after you typed here. Saving replaces that change, Discard shows it.
    </p>
  );
}
