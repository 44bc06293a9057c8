// Kernels in PTX, with parameters as the runtime passes them.
#pragma once
#include "runtime/module.h"

namespace stax::runtime::test {

// scaled_sum(x, y, out, error, i32 n, f64 scale, scratch, scratch): out = x + scale·y over n floats; an element of x
// that is negative is reported with its position as the index.
inline ModuleImage scaled_sum_image() {
  ModuleImage image;
  image.name = "test kernels";
  image.isa = "sm_90";
  image.entries = {{.symbol = "scaled_sum", .threads = 128, .shared_bytes = 60000, .reports = true},
                   {.symbol = "nothing", .threads = 32}};
  image.bytes = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry nothing(.param .u64 s0, .param .u64 s1)
{
  ret;
}
.visible .entry scaled_sum(
  .param .u64 x, .param .u64 y, .param .u64 out, .param .u64 error, .param .u32 n, .param .f64 scale,
  .param .u64 s0, .param .u64 s1)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %a<16>;
  .reg .f32 %f<6>;
  .reg .f64 %d<2>;
  ld.param.u64 %a0, [x];
  ld.param.u64 %a1, [y];
  ld.param.u64 %a2, [out];
  ld.param.u64 %a3, [error];
  ld.param.u32 %r0, [n];
  ld.param.f64 %d0, [scale];
  cvta.to.global.u64 %a0, %a0;
  cvta.to.global.u64 %a1, %a1;
  cvta.to.global.u64 %a2, %a2;
  cvta.to.global.u64 %a3, %a3;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra DONE;
  mul.wide.u32 %a4, %r4, 4;
  add.u64 %a5, %a0, %a4;
  add.u64 %a6, %a1, %a4;
  add.u64 %a7, %a2, %a4;
  ld.global.f32 %f0, [%a5];
  ld.global.f32 %f1, [%a6];
  cvt.rn.f32.f64 %f2, %d0;
  mul.rn.f32 %f3, %f1, %f2;
  add.rn.f32 %f4, %f0, %f3;
  st.global.f32 [%a7], %f4;
  setp.geu.f32 %p1, %f0, 0f00000000;
  @%p1 bra DONE;
  atom.global.cas.b64 %a8, [%a3], 0, 1;
  setp.ne.u64 %p2, %a8, 0;
  @%p2 bra DONE;
  cvt.u64.u32 %a9, %r4;
  st.global.u64 [%a3+8], 0;
  st.global.u64 [%a3+16], %a9;
  st.global.u64 [%a3+24], 7;
DONE:
  ret;
}
)";
  return image;
}

}  // namespace stax::runtime::test
