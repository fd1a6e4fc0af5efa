/* Structs that say how large the caller's idea of them is, so that later versions can add members: all zero but
 * for that.  For the macros SAGO_..._INIT of the other headers. */
#ifndef SAGO_INIT_H
#define SAGO_INIT_H

#ifdef __cplusplus
/* C++ before 20 has no designated initializers. */
template <typename sized> sized sago_sized() {
    sized value = sized();
    value.size = sizeof value;
    return value;
}
#define SAGO_SIZED(type) sago_sized<type>()
#else
#define SAGO_SIZED(type)                                                                                          \
    { .size = sizeof(type) }
#endif

#endif
