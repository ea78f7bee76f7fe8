(* names.ml - as native.c, in OCaml: LOG SECONDS. Clock and thread come from stubs.c. *)
external now : unit -> int = "tn_now"
external tid : unit -> int = "tn_tid"

let sink = ref 0

let [@inline never] leaf_one () =
  for i = 0 to 200000 do sink := !sink * 31 + i done

let [@inline never] leaf_two () =
  for i = 0 to 200001 do sink := (!sink * 33) lxor i done

let [@inline never] outer_one () = leaf_one (); incr sink
let [@inline never] outer_two () = leaf_two (); sink := !sink + 2

let [@inline never] phase one from =
  while now () < from + 20000000 do
    if one then outer_one () else outer_two ();
    incr sink
  done

let () =
  let out = open_out_gen [Open_append; Open_creat] 0o644 Sys.argv.(1) in
  let stop = now () + int_of_float (1e9 *. float_of_string Sys.argv.(2)) in
  let i = ref 0 in
  while now () < stop do
    let from = now () in
    phase (!i land 1 = 0) from;
    Printf.fprintf out "%d %d %d phase;%s\n" (tid ()) from (now ())
      (if !i land 1 = 0 then "outer_one;leaf_one" else "outer_two;leaf_two");
    incr i
  done;
  close_out out
